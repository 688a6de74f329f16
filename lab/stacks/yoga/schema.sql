use shop;
create table digits (d int primary key);
insert into digits values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
create table products (id int primary key, sku varchar(20) not null, name varchar(60) not null, price_cents int not null, stock int not null) engine=InnoDB;
create table orders (id int primary key, customer_id int not null, product_id int not null, quantity int not null, total_cents bigint not null, reference varchar(20) not null, note varchar(120) not null, unique key (reference), key (customer_id)) engine=InnoDB;
insert into products select a.d + 10 * b.d + 100 * c.d, concat('SKU-', a.d + 10 * b.d + 100 * c.d), concat('Paper ', a.d + 10 * b.d + 100 * c.d), 500 + 7 * a.d, 1000000 from digits a, digits b, digits c;
insert into orders select n, n % 1000, (n * 31) % 1000, 1 + n % 5, 900 + n % 40000, concat('REF-', n), concat('for shelf ', md5(n)) from (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d as n from digits a, digits b, digits c, digits e, digits f, digits g where g.d < 2) numbers;
analyze table products, orders;
