use shop;
create table digits (d int primary key);
insert into digits values (0),(1),(2),(3),(4),(5),(6),(7),(8),(9);
create table rooms (id int primary key, name varchar(40) not null, hotel varchar(40) not null, cents int not null) engine=InnoDB;
create table guests (id int primary key, name varchar(60) not null, email varchar(80) not null, remarks varchar(200) not null, key (email)) engine=InnoDB;
create table bookings (id bigint primary key auto_increment, room_id int not null, guest_id int not null, nights int not null, voucher varchar(40) not null, key (room_id), key (guest_id)) engine=InnoDB;
insert into rooms select a.d + 10 * b.d + 100 * c.d, concat('Room ', a.d, b.d, c.d), concat('Hotel ', a.d), 4000 + 100 * b.d from digits a, digits b, digits c;
insert into guests select n, concat('Guest ', n), concat('Guest', n, '@example.org'), concat('prefers ', md5(n), ' and ', md5(n + 1)) from (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d as n from digits a, digits b, digits c, digits e, digits f, digits g where g.d < 2) numbers;
insert into bookings (room_id, guest_id, nights, voucher) select n % 1000, (n * 17) % 200000, 1 + n % 6, concat('V-', n) from (select a.d + 10 * b.d + 100 * c.d + 1000 * e.d + 10000 * f.d + 100000 * g.d as n from digits a, digits b, digits c, digits e, digits f, digits g where g.d < 2) numbers;
