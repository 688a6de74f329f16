use shop;
create table restaurants (id int primary key, name varchar(60) not null, seats int not null, synced datetime(3) not null) engine=InnoDB;
create table reservations (id bigint primary key auto_increment, restaurant_id int not null, guest int not null, persons int not null, at datetime not null, key (restaurant_id, at), foreign key (restaurant_id) references restaurants (id)) engine=InnoDB;
insert into restaurants select seq, concat('Restaurant ', seq), 20 + seq % 60, now(3) from seq_0_to_999;
insert into reservations (restaurant_id, guest, persons, at) select seq % 1000, seq % 7000, 1 + seq % 8, now() + interval seq % 700 hour from seq_0_to_39999;
analyze table restaurants, reservations;
