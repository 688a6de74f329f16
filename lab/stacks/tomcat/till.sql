use shop;
create table articles (id int primary key, name varchar(60) not null, price_cents int not null) engine=InnoDB;
create table counters (name varchar(20) primary key, value bigint not null) engine=InnoDB;
create table invoices (number bigint primary key, article_id int not null, cents int not null, signature varchar(80) not null) engine=InnoDB;
insert into counters values ('invoice', 0), ('voucher', 0);
insert into articles select seq, concat('Article ', seq), 300 + 7 * (seq % 900) from seq_0_to_4999;
