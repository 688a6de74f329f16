use shop;
create table dishes (id int primary key, name varchar(60) not null, cents int not null, kitchen int not null, key (kitchen)) engine=InnoDB;
create table orders (id bigint primary key auto_increment, dish_id int not null, receipt varchar(40) not null) engine=InnoDB;
insert into dishes select seq, concat('Dish ', seq), 300 + 7 * (seq % 200), seq % 100 from seq_0_to_4999;
analyze table dishes;
