use shop;
create table plays (id int primary key, title varchar(80) not null, author varchar(60) not null, minutes int not null) engine=InnoDB;
create table performances (id int primary key, play_id int not null, hall int not null, starts_at datetime not null, cents int not null, key (play_id)) engine=InnoDB;
insert into plays select seq, concat('Play ', seq), concat('Author ', seq % 170), 60 + seq % 120 from seq_0_to_1999;
insert into performances select seq, seq % 2000, seq % 80, '2026-01-01' + interval seq * 15 minute, 900 + seq % 6000 from seq_0_to_29999;
analyze table plays, performances;
