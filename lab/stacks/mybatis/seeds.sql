-- The lots of a seed bank: 60,000 of 300 shelves, each with what was found out of it as JSON; 2,000 are for sale.
create table lots (id int primary key, shelf int not null, name text not null, findings text not null);
create table sales (id bigserial primary key, lot_id int not null, price text not null);
insert into lots select i, i % 300, 'Lot ' || i,
	'{"grams":' || i % 90 || ',"sprouts":' || i % 100 || ',"origin":{"country":"country ' || i % 60 || '","altitude":' || i % 3000 ||
	'},"tests":[{"day":7,"share":0.' || i % 10 || '},{"day":14,"share":0.' || 1 + i % 9 || '}],"moist":false}'
	from generate_series(0, 59999) i;
create index on lots (shelf);
vacuum analyze;
