create table meters (id int primary key, street text not null, tariff int not null);
create table readings (meter int not null, hour int not null, wh int not null, primary key (meter, hour));
insert into meters select i, i % 90 || ' Dyke Road', i % 12 from generate_series(0, 9999) i;
insert into readings select i % 10000, i / 10000, 100 + (i * 37) % 2400 from generate_series(0, 239999) i;
vacuum analyze;
