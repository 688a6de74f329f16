use shop;
create table digits (d int primary key);
insert into digits values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
create table claims (id int primary key, policy varchar(20) not null, cents bigint not null, state varchar(10) not null, note varchar(80) not null) engine=InnoDB;
insert into claims select n, concat('P-', n % 9000), 5000 + n % 70000, elt(1 + n % 3, 'open', 'paid', 'refused'), concat('hail of ', md5(n)) from (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d as n from digits a, digits b, digits c, digits e, digits f) numbers;
