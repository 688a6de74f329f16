use shop;
create table animal (id int primary key, name varchar(40) not null, kind varchar(20) not null, owner int not null, key (owner)) engine=InnoDB;
create table visit (id int primary key, animal_id int not null, owner int not null, reason varchar(80) not null, cents int not null, key (animal_id), key (owner)) engine=InnoDB;
insert into animal select seq, concat('Rex ', seq), elt(1 + seq % 4, 'dog', 'cat', 'rabbit', 'horse'), seq % 1500 from seq_0_to_29999;
insert into visit select seq, seq % 30000, seq % 1500, concat('vaccination ', seq % 77), 2000 + seq % 9000 from seq_0_to_119999;
analyze table animal, visit;
