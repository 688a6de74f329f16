-- Charging stations and what was charged at them: 3,000 stations and 480,000 sessions of 250 days.
create table stations (id int primary key, name text not null, city text not null, plugs int not null);
create table sessions (
	id int primary key,
	station_id int not null,
	started_at timestamp not null,
	watt_hours int not null,
	cents int not null,
	card text not null
);
insert into stations select i, 'Station ' || i, (array['Lyon','Turin','Basel','Ghent','Porto'])[1 + i % 5], 2 + i % 6 from generate_series(0, 2999) i;
insert into sessions
	select i, i * 7 % 3000, timestamp '2026-01-01' + i * interval '45 seconds', 4000 + i * 37 % 60000, 200 + i % 4000, md5(i::text)
	from generate_series(0, 479999) i;
create index on sessions (started_at);
create index on sessions (station_id, started_at);
vacuum analyze;
