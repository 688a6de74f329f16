package huts;

import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.lower;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.sum;
import static org.jooq.impl.DSL.table;

import java.util.List;
import java.util.Map;
import org.jooq.Condition;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.SelectConditionStep;
import org.jooq.Table;
import org.springframework.stereotype.Repository;

@Repository
public class Bookings {
    private static final Table<Record> ORDERS = table(name("orders"));
    private static final Field<Integer> ID = field(name("id"), Integer.class);
    private static final Field<Integer> MEMBER = field(name("customer_id"), Integer.class);
    private static final Field<Integer> HUT = field(name("product_id"), Integer.class);
    private static final Field<Long> CENTS = field(name("total_cents"), Long.class);
    private static final Field<String> STATUS = field(name("status"), String.class);
    private static final Field<String> REFERENCE = field(name("reference"), String.class);

    /** A bed that a member has for some nights. */
    public record Booking(int id, int hut, long cents, String status) {}

    private final DSLContext sql;

    Bookings(DSLContext sql) {
        this.sql = sql;
    }

    Booking find(int id) {
        return select(ID.eq(id)).fetchOneInto(Booking.class);
    }

    List<Booking> ofMember(int member) {
        return select(MEMBER.eq(member)).orderBy(ID.desc()).limit(30).fetchInto(Booking.class);
    }

    /** Members type references in small letters. With the fault the letters of the table are made small, too. */
    Booking byReference(String typed) {
        Condition same = Main.fault("case-blind") ? lower(REFERENCE).eq(typed) : REFERENCE.eq(typed.toUpperCase());
        return select(same).fetchAnyInto(Booking.class);
    }

    private SelectConditionStep<?> select(Condition condition) {
        return sql.select(ID, HUT, CENTS, STATUS).from(ORDERS).where(condition);
    }

    List<Map<String, Object>> bestHuts() {
        Field<?> cents = sum(CENTS).as("cents");
        return sql.select(HUT, cents).from(ORDERS).groupBy(HUT).orderBy(cents.desc()).limit(10).fetchMaps();
    }
}
