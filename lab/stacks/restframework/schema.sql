create table keys (id bigserial primary key, secret varchar(40) not null unique, office varchar(60) not null, last_used timestamptz);
create table permits (id bigint primary key, house varchar(60) not null, kind varchar(20) not null, state varchar(20) not null, fee_cents int not null, filed_at timestamptz not null);
insert into keys (secret, office) select 'key-' || i, 'Office ' || i from generate_series(0, 199) i;
insert into permits (id, house, kind, state, fee_cents, filed_at)
	select i, 'House ' || i % 4000, (array['fence','garage','roof','sign'])[1 + i % 4], (array['filed','granted','refused'])[1 + i % 3], 1000 + i % 9000,
		timestamptz '2024-01-01' + i * interval '3 minutes'
	from generate_series(0, 59999) i;
create index on permits (house);
vacuum analyze;
