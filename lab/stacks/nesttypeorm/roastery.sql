-- A roastery: 40,000 lots of coffee from 800 farms, and 360,000 cuppings of them.
create table lots (id int primary key, code text not null, farm_id int not null, kilograms int not null, arrived_on date not null);
create table cuppings (id int primary key, lot_id int not null, lot_code text not null, taster text not null, score numeric(5, 2) not null, words text not null);
create table samples (id bigserial primary key, lot_id int not null, receipt text not null, taken_at timestamptz not null default now());

insert into lots select i, 'LOT-' || lpad((i * 7919 % 40000)::text, 6, '0'), i % 800, 60 + i % 900, date '2025-01-01' + i % 500 from generate_series(0, 39999) i;
insert into cuppings
	select i, l.id, l.code, (array['Ada','Bela','Cleo','Dov','Ester'])[1 + i % 5], 78 + (i * 37 % 1700) / 100.0,
		'with ' || (array['cherry','cocoa','lemon','honey'])[1 + i % 4] || ' and ' || (array['plum','nuts','jasmine'])[1 + i % 3] || ', ' || md5(i::text)
	from generate_series(0, 359999) i join lots l on l.id = i % 40000;
create index on lots (farm_id);
create index on cuppings (lot_id);
vacuum analyze;
