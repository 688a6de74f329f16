use shop;
create table digits (d int primary key);
insert into digits values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
create table roads (id int primary key, name varchar(40) not null, cents int not null) engine=InnoDB;
create table passages (id bigint primary key auto_increment, road_id int not null, plate varchar(12) not null, cents int not null, key (plate)) engine=InnoDB;
insert into roads select a.d + 10 * b.d + 100 * c.d, concat('Road ', a.d, b.d, c.d), 200 + 10 * a.d from digits a, digits b, digits c;
insert into passages (road_id, plate, cents) select n % 1000, concat('P-', n % 9000), 200 + n % 700 from (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d as n from digits a, digits b, digits c, digits e, digits f) numbers;
analyze table roads, passages;
