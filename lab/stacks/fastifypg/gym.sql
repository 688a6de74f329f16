-- What a chain of gyms keeps: 8,000 members with 45 visits each, in 60 gyms, and a ranking of the members.
create table members (id int primary key, name text not null, gym int not null, since date not null);
create table visits (id int primary key, member_id int not null references members, gym int not null, minutes int not null, cents int not null, came_at timestamptz not null);
insert into members select i, 'Member ' || i, i % 60, date '2019-01-01' + i % 2000 from generate_series(0, 7999) i;
insert into visits
	select i, i % 8000, (i * 7) % 60, 20 + i % 95, 300 + i % 1900, timestamptz '2024-01-01' + i * interval '2 minutes' from generate_series(0, 359999) i;
create index on visits (member_id, id);

create materialized view rankings as
	select member_id, sum(minutes)::bigint as minutes, count(distinct gym) as gyms, rank() over (order by sum(minutes) desc) as place
	from visits group by member_id;
create unique index on rankings (member_id);

-- The statement of a member of years that are kept on slow storage: it takes 22 ms and no CPU.
create function archived_statement(member int) returns bigint language plpgsql as $$
begin
	perform pg_sleep(0.022);
	return (select coalesce(sum(cents), 0) from visits where member_id = member);
end $$;
vacuum analyze;
