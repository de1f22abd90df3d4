//! The tables that several workloads share.

use dbdyno_model::{Column, Index, Kind, Source, Table};

/// `bm` of point-get and point-update: `c` and `pad` are the decimal id padded with `x` and `y`.
pub fn bm() -> Table {
    let columns = vec![
        Column::new("id", Kind::Int, Source::Key),
        Column::new("k", Kind::Int, Source::Counter),
        Column::new("c", Kind::Char(120), Source::Padded(b'x')),
        Column::new("pad", Kind::Char(120), Source::Padded(b'y')),
    ];
    Table::new("bm", columns)
}

/// `bm` of secondary-get: `sid` equals `id` and has its own index.
pub fn bm_with_secondary_key() -> Table {
    let columns = vec![
        Column::new("id", Kind::Int, Source::Key),
        Column::new("sid", Kind::Int, Source::Key),
        Column::new("k", Kind::Int, Source::Counter),
        Column::new("c", Kind::Char(120), Source::Padded(b'x')),
        Column::new("pad", Kind::Char(60), Source::Padded(b'y')),
    ];
    Table { indexes: vec![Index::new(&[1])], ..Table::new("bm", columns) }
}

/// Rows of about 1 kB, so that 2,000,000 players and accounts are together about 4 GB.
pub fn player() -> Table {
    let stat = |name, salt, below| Column::new(name, Kind::Int, Source::Number { salt, below });
    let columns = vec![
        Column::new("id", Kind::Int, Source::Key),
        Column::new("email", Kind::Varchar(64), Source::Email),
        Column::new("name", Kind::Varchar(64), Source::Name),
        Column::new("version", Kind::Int, Source::Version),
        stat("level", 1, 100),
        stat("experience", 2, 1_000_000_000),
        stat("gold", 3, 1_000_000),
        stat("health", 4, 1_000),
        stat("strength", 5, 1_000),
        stat("position_x", 6, 100_000),
        stat("position_y", 7, 100_000),
        Column::new("inventory", Kind::Varchar(400), Source::VersionedLetters { salt: 8 }),
        Column::new("biography", Kind::Varchar(400), Source::Letters { salt: 9 }),
    ];
    Table::new("player", columns)
}

/// A player's account, only ever looked up by its e-mail.
pub fn account() -> Table {
    let columns = vec![
        Column::new("id", Kind::Int, Source::Key),
        Column::new("email", Kind::Varchar(64), Source::Email),
        Column::new("name", Kind::Varchar(64), Source::Name),
        Column::new("password_hash", Kind::Char(64), Source::Letters { salt: 10 }),
        Column::new("address", Kind::Varchar(800), Source::Letters { salt: 11 }),
    ];
    Table { indexes: vec![Index::unique(&[EMAIL])], filed_under: EMAIL, ..Table::new("account", columns) }
}

/// The column `email` of both player and account.
pub const EMAIL: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use dbdyno_model::RowBuffer;

    #[test]
    fn a_player_and_an_account_have_the_same_email_and_about_a_kilobyte_each() {
        let (mut player_row, mut account_row) = (RowBuffer::default(), RowBuffer::default());
        player().generate(1_999_999, 3, &mut player_row);
        account().generate(1_999_999, 0, &mut account_row);
        assert_eq!(player_row.row().value(EMAIL), account_row.row().value(EMAIL));
        for row in [player_row, account_row] {
            assert!((850..1150).contains(&(row.bytes.len() + 8 * 4)), "{}", row.bytes.len());
        }
    }
}
