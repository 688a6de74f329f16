use shop;
create table digits (d int primary key);
insert into digits values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
create table lockers (id int primary key, district int not null, street varchar(60) not null, boxes int not null, key (district)) engine=InnoDB;
create table openings (id bigint primary key auto_increment, locker int not null, code int not null, at timestamp not null default current_timestamp) engine=InnoDB;
insert into lockers select n, n % 12, concat('Street ', n % 431, ', number ', 1 + n % 90), 20 + n % 60 from (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d as n from digits a, digits b, digits c, digits e) numbers;
