-- The shop that every stack on PostgreSQL serves: 1,500 customers with 200 orders each, of 2,000 products.
create table customers (id int primary key, name text not null, email text not null, city text not null);
create table products (id int primary key, sku text not null unique, name text not null, price_cents int not null, stock int not null);
create table orders (
	id int primary key,
	customer_id int not null,
	product_id int not null,
	quantity int not null,
	total_cents bigint not null,
	status text not null,
	reference text not null unique,
	note text not null,
	placed_at timestamptz not null
);
create table payments (id bigserial primary key, product_id int not null, amount_cents bigint not null, receipt text not null, paid_at timestamptz not null default now());

insert into customers select i, 'Customer ' || i, 'customer' || i || '@example.org', (array['Lyon','Turin','Basel','Ghent','Porto'])[1 + i % 5] from generate_series(0, 1499) i;
insert into products select i, 'SKU-' || i, 'Product ' || i, 500 + i % 9000, 1000000 from generate_series(0, 1999) i;
insert into orders
	select i, i % 1500, ((i / 1500) * 13 + i * 31) % 2000, 1 + i % 5, 900 + i % 40000, (array['paid','sent','returned'])[1 + i % 3],
		'REF-' || i, 'leave it with ' || md5(i::text) || ' behind the ' || (array['shed','gate','counter','red door','stairs'])[1 + i % 5],
		timestamptz '2024-01-01' + i * interval '3 minutes'
	from generate_series(0, 299999) i;
create index on orders (customer_id);

-- The turnover of a customer of years that are kept on slow storage: it takes 20 ms and no CPU.
create function archived_turnover(customer int) returns bigint language plpgsql as $$
begin
	perform pg_sleep(0.02);
	return (select coalesce(sum(total_cents), 0) from orders where customer_id = customer);
end $$;
vacuum analyze;
