-- The transactions of the workload tpcc for sysbench, statement by statement the same, on the tables that dbdyno-load makes
-- (`run`), and the loading of the same number of rows of the same sizes by sysbench's bulk inserts (`prepare`).
-- Statements go as text: sysbench cannot read what a prepared one answers with.

local bit = require("bit")
local uniform = sysbench.rand.uniform

sysbench.cmdline.options = { warehouses = { "Number of warehouses", 1 } }

local ITEMS, CUSTOMERS, DISTRICTS = 100000, 3000, 10
local SYLLABLES = { "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING" }

local function nurand(a, c, first, last)
   return (bit.bor(uniform(0, a), uniform(first, last)) + c) % (last - first + 1) + first
end

local function last_name(number)
   local digits = { math.floor(number / 100), math.floor(number / 10) % 10, number % 10 }
   return SYLLABLES[digits[1] + 1] .. SYLLABLES[digits[2] + 1] .. SYLLABLES[digits[3] + 1]
end

local function customer() return nurand(1023, 89, 1, CUSTOMERS) end

local function another(warehouse)
   if sysbench.opt.warehouses == 1 then return 1 end
   local other = uniform(1, sysbench.opt.warehouses - 1)
   return other < warehouse and other or other + 1
end

local con, home, district_of_stock

function thread_init()
   con = sysbench.sql.driver():connect()
   home = sysbench.tid % sysbench.opt.warehouses + 1
   district_of_stock = math.floor(sysbench.tid / sysbench.opt.warehouses) % DISTRICTS + 1
end

function thread_done() con:disconnect() end

local function query(...) return con:query(string.format(...)) end
local function query_row(...) return con:query_row(string.format(...)) end

local function find_customer(w, d)
   if uniform(1, 100) > 60 then return customer() end
   local found = query("SELECT c_id FROM dbdyno_customer WHERE c_w_id = %d AND c_d_id = %d AND c_last = '%s' ORDER BY c_first",
      w, d, last_name(nurand(255, 71, 0, 999)))
   local middle, id = math.floor((found.nrows + 1) / 2), 0
   for place = 1, found.nrows do
      local row = found:fetch_row()
      if place == middle then id = tonumber(row[1]) end
   end
   return id
end

local DIST = {}
for d = 1, 10 do DIST[d] = string.format("WHEN %d THEN s_dist_%02d", d, d) end
DIST = table.concat(DIST, " ")

local function add_line(w, d, o, number, line)
   local price, name, data = query_row("SELECT i_price, i_name, i_data FROM dbdyno_item WHERE i_id = %d", line.item)
   if price == nil then return false end
   local quantity, s_data, dist = query_row("SELECT s_quantity, s_data, CASE %d + 0 " .. DIST ..
      " END FROM dbdyno_stock WHERE s_w_id = %d AND s_i_id = %d FOR UPDATE", d, line.supplier, line.item)
   quantity = tonumber(quantity)
   local left = quantity >= line.quantity + 10 and quantity - line.quantity or quantity - line.quantity + 91
   query("UPDATE dbdyno_stock SET s_quantity = %d, s_ytd = s_ytd + %d, s_order_cnt = s_order_cnt + 1, " ..
      "s_remote_cnt = s_remote_cnt + %d WHERE s_w_id = %d AND s_i_id = %d",
      left, line.quantity, line.supplier ~= w and 1 or 0, line.supplier, line.item)
   query("INSERT INTO dbdyno_order_line (ol_w_id, ol_d_id, ol_o_id, ol_number, ol_i_id, ol_supply_w_id, ol_delivery_d, " ..
      "ol_quantity, ol_amount, ol_dist_info) VALUES (%d, %d, %d, %d, %d, %d, NULL, %d, %.2f, '%s')",
      w, d, o, number, line.item, line.supplier, line.quantity, tonumber(price) * line.quantity, dist)
   return true
end

local function new_order()
   local w, d, c, count = home, uniform(1, DISTRICTS), customer(), uniform(5, 15)
   local rolled_back, is_local, lines = uniform(1, 100) == 1, 1, {}
   for n = 1, count do
      local supplier = uniform(1, 100) == 1 and another(w) or w
      if supplier ~= w then is_local = 0 end
      lines[n] = { item = nurand(8191, 1446, 1, ITEMS), supplier = supplier, quantity = uniform(1, 10) }
   end
   if rolled_back then lines[count].item = 0 end
   con:query("START TRANSACTION")
   query_row("SELECT c_discount, c_last, c_credit, w_tax FROM dbdyno_customer JOIN dbdyno_warehouse ON w_id = c_w_id " ..
      "WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", w, d, c)
   local o = query_row("SELECT d_next_o_id, d_tax FROM dbdyno_district WHERE d_w_id = %d AND d_id = %d FOR UPDATE", w, d)
   query("UPDATE dbdyno_district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = %d AND d_id = %d", w, d)
   query("INSERT INTO dbdyno_orders (o_w_id, o_d_id, o_id, o_c_id, o_entry_d, o_carrier_id, o_ol_cnt, o_all_local) " ..
      "VALUES (%d, %d, %d, %d, CURRENT_TIMESTAMP, NULL, %d, %d)", w, d, o, c, count, is_local)
   query("INSERT INTO dbdyno_new_order (no_w_id, no_d_id, no_o_id) VALUES (%d, %d, %d)", w, d, o)
   for n = 1, count do
      if not add_line(w, d, o, n, lines[n]) then
         con:query("ROLLBACK")
         return
      end
   end
   con:query("COMMIT")
end

local ADDRESS = "%s_street_1, %s_street_2, %s_city, %s_state, %s_zip"

local function payment()
   local w, d, amount = home, uniform(1, DISTRICTS), uniform(100, 500000) / 100
   local c_w, c_d = w, d
   if uniform(1, 100) <= 15 then c_w, c_d = another(w), uniform(1, DISTRICTS) end
   con:query("START TRANSACTION")
   query("UPDATE dbdyno_warehouse SET w_ytd = w_ytd + %.2f WHERE w_id = %d", amount, w)
   local w_name = query_row("SELECT w_name, " .. ADDRESS:gsub("%%s", "w") .. " FROM dbdyno_warehouse WHERE w_id = %d", w)
   query("UPDATE dbdyno_district SET d_ytd = d_ytd + %.2f WHERE d_w_id = %d AND d_id = %d", amount, w, d)
   local d_name = query_row("SELECT d_name, " .. ADDRESS:gsub("%%s", "d") ..
      " FROM dbdyno_district WHERE d_w_id = %d AND d_id = %d", w, d)
   local c = find_customer(c_w, c_d)
   local key = string.format("c_w_id = %d AND c_d_id = %d AND c_id = %d", c_w, c_d, c)
   local first, middle, last, s1, s2, city, state, zip, phone, credit = con:query_row(
      "SELECT c_first, c_middle, c_last, " .. ADDRESS:gsub("%%s", "c") ..
      ", c_phone, c_credit, c_credit_lim, c_discount, c_balance, c_since FROM dbdyno_customer WHERE " .. key .. " FOR UPDATE")
   local pay = string.format("UPDATE dbdyno_customer SET c_balance = c_balance - %.2f, c_ytd_payment = c_ytd_payment + %.2f, " ..
      "c_payment_cnt = c_payment_cnt + 1", amount, amount)
   if credit == "BC" then
      local before = con:query_row("SELECT c_data FROM dbdyno_customer WHERE " .. key)
      local data = string.format("%d %d %d %d %d %.2f|%s", c, c_d, c_w, d, w, amount, before):sub(1, 500)
      con:query(pay .. ", c_data = '" .. data .. "' WHERE " .. key)
   else
      con:query(pay .. " WHERE " .. key)
   end
   query("INSERT INTO dbdyno_history (h_c_id, h_c_d_id, h_c_w_id, h_d_id, h_w_id, h_date, h_amount, h_data) " ..
      "VALUES (%d, %d, %d, %d, %d, CURRENT_TIMESTAMP, %.2f, '%s    %s')", c, c_d, c_w, d, w, amount, w_name, d_name)
   con:query("COMMIT")
end

local function fetch_all(rows)
   for _ = 1, rows.nrows do rows:fetch_row() end
end

local function order_status()
   local w, d = home, uniform(1, DISTRICTS)
   con:query("START TRANSACTION READ ONLY")
   local c = find_customer(w, d)
   query_row("SELECT c_balance, c_first, c_middle, c_last FROM dbdyno_customer WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", w, d, c)
   local o = query_row("SELECT o_id, o_entry_d, o_carrier_id FROM dbdyno_orders WHERE o_w_id = %d AND o_d_id = %d AND o_c_id = %d " ..
      "ORDER BY o_id DESC LIMIT 1", w, d, c)
   fetch_all(query("SELECT ol_i_id, ol_supply_w_id, ol_quantity, ol_amount, ol_delivery_d FROM dbdyno_order_line " ..
      "WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", w, d, o))
   con:query("COMMIT")
end

local function deliver(w, d, o, carrier)
   query("DELETE FROM dbdyno_new_order WHERE no_w_id = %d AND no_d_id = %d AND no_o_id = %d", w, d, o)
   local c = query_row("SELECT o_c_id FROM dbdyno_orders WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d FOR UPDATE", w, d, o)
   query("UPDATE dbdyno_orders SET o_carrier_id = %d WHERE o_w_id = %d AND o_d_id = %d AND o_id = %d", carrier, w, d, o)
   query("UPDATE dbdyno_order_line SET ol_delivery_d = CURRENT_TIMESTAMP WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", w, d, o)
   local sum = query_row("SELECT SUM(ol_amount) FROM dbdyno_order_line WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id = %d", w, d, o)
   query("UPDATE dbdyno_customer SET c_balance = c_balance + %s, c_delivery_cnt = c_delivery_cnt + 1 " ..
      "WHERE c_w_id = %d AND c_d_id = %d AND c_id = %d", sum, w, d, c)
end

local function delivery()
   local carrier = uniform(1, 10)
   con:query("START TRANSACTION")
   for d = 1, DISTRICTS do
      local o = query_row("SELECT no_o_id FROM dbdyno_new_order WHERE no_w_id = %d AND no_d_id = %d ORDER BY no_o_id LIMIT 1 FOR UPDATE", home, d)
      if o then deliver(home, d, o, carrier) end
   end
   con:query("COMMIT")
end

local function stock_level()
   local least = uniform(10, 20)
   con:query("START TRANSACTION READ ONLY")
   local o = query_row("SELECT d_next_o_id FROM dbdyno_district WHERE d_w_id = %d AND d_id = %d", home, district_of_stock)
   query_row("SELECT COUNT(DISTINCT s_i_id) FROM dbdyno_order_line JOIN dbdyno_stock ON s_w_id = ol_w_id AND s_i_id = ol_i_id " ..
      "WHERE ol_w_id = %d AND ol_d_id = %d AND ol_o_id < %d AND ol_o_id >= %d AND s_quantity < %d",
      home, district_of_stock, o, o - 20, least)
   con:query("COMMIT")
end

function event()
   local card = uniform(0, 99)
   if card < 45 then new_order()
   elseif card < 88 then payment()
   elseif card < 92 then order_status()
   elseif card < 96 then delivery()
   else stock_level() end
end

-- Loading

local function text(size) return sysbench.rand.string(string.rep("@", size)) end
local function some_text(first, last) return text(uniform(first, last)) end
local function address() return string.format("'%s', '%s', '%s', '%s', '%s11111'",
   some_text(10, 20), some_text(10, 20), some_text(10, 20), text(2), sysbench.rand.string("####")) end
local NOW = "'2026-01-01 00:00:00'"

local ADDRESS_TYPES = "%s_street_1 VARCHAR(20), %s_street_2 VARCHAR(20), %s_city VARCHAR(20), %s_state CHAR(2), %s_zip CHAR(9)"
local TABLES = {
   "warehouse (w_id INT PRIMARY KEY, w_name VARCHAR(10), " .. ADDRESS_TYPES:gsub("%%s", "w") .. ", w_tax DECIMAL(4,4), w_ytd DECIMAL(12,2))",
   "district (d_w_id INT, d_id TINYINT, d_name VARCHAR(10), " .. ADDRESS_TYPES:gsub("%%s", "d") ..
      ", d_tax DECIMAL(4,4), d_ytd DECIMAL(12,2), d_next_o_id INT, PRIMARY KEY (d_w_id, d_id))",
   "customer (c_w_id INT, c_d_id TINYINT, c_id INT, c_first VARCHAR(16), c_middle CHAR(2), c_last VARCHAR(16), " ..
      ADDRESS_TYPES:gsub("%%s", "c") .. ", c_phone CHAR(16), c_since DATETIME, c_credit CHAR(2), c_credit_lim DECIMAL(12,2), " ..
      "c_discount DECIMAL(4,4), c_balance DECIMAL(12,2), c_ytd_payment DECIMAL(12,2), c_payment_cnt INT, c_delivery_cnt INT, " ..
      "c_data VARCHAR(500), PRIMARY KEY (c_w_id, c_d_id, c_id))",
   "item (i_id INT PRIMARY KEY, i_im_id INT, i_name VARCHAR(24), i_price DECIMAL(5,2), i_data VARCHAR(50))",
   "stock (s_w_id INT, s_i_id INT, s_quantity SMALLINT, s_dist_01 CHAR(24), s_dist_02 CHAR(24), s_dist_03 CHAR(24), s_dist_04 CHAR(24), " ..
      "s_dist_05 CHAR(24), s_dist_06 CHAR(24), s_dist_07 CHAR(24), s_dist_08 CHAR(24), s_dist_09 CHAR(24), s_dist_10 CHAR(24), " ..
      "s_ytd INT, s_order_cnt INT, s_remote_cnt INT, s_data VARCHAR(50), PRIMARY KEY (s_w_id, s_i_id))",
   "history (h_c_id INT, h_c_d_id TINYINT, h_c_w_id INT, h_d_id TINYINT, h_w_id INT, h_date DATETIME, h_amount DECIMAL(6,2), h_data VARCHAR(24))",
   "new_order (no_w_id INT, no_d_id TINYINT, no_o_id INT, PRIMARY KEY (no_w_id, no_d_id, no_o_id))",
   "orders (o_w_id INT, o_d_id TINYINT, o_id INT, o_c_id INT, o_entry_d DATETIME, o_carrier_id TINYINT, o_ol_cnt TINYINT, " ..
      "o_all_local TINYINT, PRIMARY KEY (o_w_id, o_d_id, o_id))",
   "order_line (ol_w_id INT, ol_d_id TINYINT, ol_o_id INT, ol_number TINYINT, ol_i_id INT, ol_supply_w_id INT, ol_delivery_d DATETIME, " ..
      "ol_quantity TINYINT, ol_amount DECIMAL(6,2), ol_dist_info CHAR(24), PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number))",
}

local function bulk(name, rows)
   con:bulk_insert_init("INSERT INTO dbdyno_" .. name .. " VALUES")
   rows(function(...) con:bulk_insert_next("(" .. string.format(...) .. ")") end)
   con:bulk_insert_done()
end

local function each(last, add) for n = 1, last do add(n) end end

local function load_customers(w)
   bulk("customer", function(add)
      each(DISTRICTS, function(d) each(CUSTOMERS, function(c)
         local name = c <= 1000 and c - 1 or nurand(255, 146, 0, 999)
         add("%d, %d, %d, '%s', 'OE', '%s', %s, '%s', %s, '%s', 50000, %.4f, -10, 10, 1, 0, '%s'", w, d, c, some_text(8, 16),
            last_name(name), address(), sysbench.rand.string("################"), NOW,
            uniform(1, 10) == 1 and "BC" or "GC", uniform(0, 5000) / 10000, some_text(300, 500))
      end) end)
   end)
   bulk("history", function(add)
      each(DISTRICTS, function(d) each(CUSTOMERS, function(c)
         add("%d, %d, %d, %d, %d, %s, 10, '%s'", c, d, w, d, w, NOW, some_text(12, 24))
      end) end)
   end)
end

local function load_orders(w)
   local lines = {}
   each(DISTRICTS, function(d)
      lines[d] = {}
      each(CUSTOMERS, function(o) lines[d][o] = uniform(5, 15) end)
   end)
   bulk("orders", function(add)
      each(DISTRICTS, function(d) each(CUSTOMERS, function(o)
         add("%d, %d, %d, %d, %s, %s, %d, 1", w, d, o, (o * 7) % CUSTOMERS + 1, NOW, o < 2101 and uniform(1, 10) or "NULL", lines[d][o])
      end) end)
   end)
   bulk("new_order", function(add)
      each(DISTRICTS, function(d) for o = 2101, CUSTOMERS do add("%d, %d, %d", w, d, o) end end)
   end)
   bulk("order_line", function(add)
      each(DISTRICTS, function(d) each(CUSTOMERS, function(o) each(lines[d][o], function(n)
         add("%d, %d, %d, %d, %d, %d, %s, 5, %.2f, '%s'", w, d, o, n, uniform(1, ITEMS), w,
            o < 2101 and NOW or "NULL", o < 2101 and 0 or uniform(1, 999999) / 100, text(24))
      end) end) end)
   end)
end

local function load_stock(w)
   bulk("stock", function(add)
      each(ITEMS, function(i)
         add("%d, %d, %d, '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', 0, 0, 0, '%s'", w, i, uniform(10, 100),
            text(24), text(24), text(24), text(24), text(24), text(24), text(24), text(24), text(24), text(24), some_text(26, 50))
      end)
   end)
end

local function load_items()
   bulk("item", function(add)
      each(ITEMS, function(i)
         add("%d, %d, '%s', %.2f, '%s'", i, uniform(1, 10000), some_text(14, 24), uniform(100, 10000) / 100, some_text(26, 50))
      end)
   end)
end

local function load_warehouse(w)
   query("INSERT INTO dbdyno_warehouse VALUES (%d, '%s', %s, %.4f, 300000)", w, some_text(6, 10), address(), uniform(0, 2000) / 10000)
   each(DISTRICTS, function(d)
      query("INSERT INTO dbdyno_district VALUES (%d, %d, '%s', %s, %.4f, 30000, 3001)", w, d, some_text(6, 10), address(), uniform(0, 2000) / 10000)
   end)
   load_customers(w)
   load_stock(w)
   load_orders(w)
end

-- Commands: `tables`, then `prepare` by several threads, then `indexes`.
local function command(work)
   return function()
      con = sysbench.sql.driver():connect()
      work()
      con:disconnect()
   end
end

local function prepare()
   if sysbench.tid == 0 then load_items() end
   for w = sysbench.tid + 1, sysbench.opt.warehouses, sysbench.opt.threads do load_warehouse(w) end
end

local function tables()
   for _, definition in ipairs(TABLES) do con:query("CREATE TABLE dbdyno_" .. definition) end
end

local function indexes()
   con:query("CREATE INDEX by_name ON dbdyno_customer (c_w_id, c_d_id, c_last, c_first)")
   con:query("CREATE INDEX by_customer ON dbdyno_orders (o_w_id, o_d_id, o_c_id, o_id)")
end

sysbench.cmdline.commands = {
   tables = { command(tables) },
   prepare = { command(prepare), sysbench.cmdline.PARALLEL_COMMAND },
   indexes = { command(indexes) },
}
