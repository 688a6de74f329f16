use shop;
create table turbines (id int primary key, name varchar(40) not null, site varchar(40) not null, megawatt decimal(4,1) not null) engine=InnoDB;
create table orders (id int primary key, turbine_id int not null, part varchar(60) not null, hours int not null, note varchar(160) not null, key (turbine_id)) engine=InnoDB;
insert into turbines select seq, concat('WEA ', seq), concat('Site ', seq % 40), 2 + (seq % 60) / 10 from seq_0_to_1999;
insert into orders select seq, seq % 2000, concat('part ', seq % 900), 1 + seq % 9, concat('replace and grease, order ', md5(seq)) from seq_0_to_59999;
analyze table turbines, orders;
