create table berths (id int primary key, quay text not null, metres int not null);
create table bookings (id bigserial primary key, berth_id int not null, ship text not null, pilot text not null);
insert into berths select i, 'quay ' || i % 40, 60 + i % 240 from generate_series(0, 1999) i;
insert into bookings (berth_id, ship, pilot) select i % 2000, 'ship ' || i, 'pilot ' || i % 30 from generate_series(0, 39999) i;
create index on bookings (berth_id);
vacuum analyze;
