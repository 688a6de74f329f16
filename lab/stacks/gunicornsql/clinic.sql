use shop;
create table digits (d int primary key);
insert into digits values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
create table animals (id int primary key, chip varchar(20) not null, name varchar(40) not null, species varchar(20) not null, unique key (chip)) engine=InnoDB;
create table visits (id int primary key, animal_id int not null, cents int not null, reason varchar(40) not null, key (animal_id)) engine=InnoDB;
insert into animals select n, concat('97681', lpad(n, 6, '0')), concat('Animal ', n), elt(1 + n % 4, 'dog', 'cat', 'rabbit', 'parrot') from (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d as n from digits a, digits b, digits c, digits e, digits f, digits g where g.d < 2) numbers;
insert into visits select n, (n * 31) % 200000, 2500 + n % 9000, elt(1 + n % 5, 'vaccination', 'teeth', 'claws', 'operation', 'advice') from (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d as n from digits a, digits b, digits c, digits e, digits f, digits g where g.d < 2) numbers where n < 120000;
