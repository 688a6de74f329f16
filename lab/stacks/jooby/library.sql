use shop;
create table books (id int primary key, title varchar(80) not null, author varchar(60) not null, year int not null) engine=InnoDB;
create table copies (id int primary key, barcode varchar(20) not null, book_id int not null, reader int not null, key (barcode), key (book_id)) engine=InnoDB;
create table loans (id bigint primary key auto_increment, barcode varchar(20) not null, reader int not null, gate varchar(120) not null) engine=InnoDB;
insert into books select seq, concat('Book ', seq), concat('Author ', seq % 700), 1900 + seq % 125 from seq_0_to_2999;
insert into copies select seq, concat('LIB-', lpad(seq, 6, '0')), seq % 3000, 0 from seq_0_to_4999;
analyze table books, copies;
