//! The stores without an arrangement. One list: whatever names them all is made of it.

/// Hands the list to the macro `make`: of each store its variant, and its configuration, which declares the rest.
macro_rules! stores {
    ($make:ident) => {
        $make! {
            Mysql = crate::mysql::MysqlConfig;
            Postgres = crate::postgres::PostgresConfig;
            Redis = crate::redis::RedisConfig;
            Memcached = crate::memcached::MemcachedConfig;
            Mongodb = crate::mongodb::MongodbConfig;
            Handlersocket = crate::handlersocket::HandlersocketConfig;
            Sqlite = crate::sqlite::SqliteConfig;
            Embedded = crate::engines::EngineConfig;
            Cassandra = crate::cassandra::CassandraConfig;
            Tokyotyrant = crate::tokyotyrant::TokyotyrantConfig;
        }
    };
}

pub(crate) use stores;
