create table customers (id bigint primary key, name text not null, city text not null);
create table invoices (
	id bigserial primary key,
	customer_id bigint not null references customers,
	number bigint not null,
	month int not null,
	net numeric(12, 2) not null,
	vat numeric(4, 2) not null,
	signature text not null
);
create table number_ranges (name text primary key, next bigint not null);
insert into number_ranges values ('invoices', 1000000);
insert into customers select i, 'Customer ' || i, (array['Lyon','Turin','Basel','Ghent','Porto'])[1 + i % 5] from generate_series(0, 2999) i;
insert into invoices (customer_id, number, month, net, vat, signature)
	select i % 3000, i, 1 + i % 48, 10 + i % 900 + 0.37, (array[19, 7, 5.5])[1 + i % 3], md5(i::text) from generate_series(1, 240000) i;
create index on invoices (month);
-- Filled each night.
create table vat_of_months as select month, vat, sum(round(net * vat / 100, 2)) as owed from invoices group by month, vat;
create index on vat_of_months (month);
vacuum analyze;
