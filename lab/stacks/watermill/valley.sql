use shop;
create table meters (id int primary key, place varchar(60) not null, litres int not null) engine=InnoDB;
create table readings (id bigint primary key auto_increment, meter_id int not null, minute int not null, litres int not null) engine=InnoDB;
insert into meters select seq, concat('Farm ', seq), 1000 + seq % 9000 from seq_0_to_4999;
analyze table meters;
