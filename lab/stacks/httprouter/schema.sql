use shop;
create table digits (d int primary key);
insert into digits values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
create table holders (id int primary key, name varchar(60) not null, phone varchar(20) not null, street varchar(120) not null, key (phone)) engine=InnoDB;
create table permits (id int primary key auto_increment, holder_id int not null, zone int not null, plate varchar(12) not null, cents int not null, key (zone), key (plate)) engine=InnoDB;
insert into holders select n, concat('Holder ', n), concat('555', lpad(n, 7, '0')), concat(n % 90, ' ', md5(n), ' Street') from (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d as n from digits a, digits b, digits c, digits e, digits f, digits g where g.d < 3) numbers;
insert into permits (holder_id, zone, plate, cents) select (n * 17) % 300000, n % 5000, concat('P-', n), 4000 + n % 900 from (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d as n from digits a, digits b, digits c, digits e, digits f) numbers;
analyze table holders, permits;
