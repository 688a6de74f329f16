package huts;

import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.table;

import java.util.concurrent.atomic.AtomicInteger;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.Table;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** Beds that huts have left. Partners abroad sell some, too, and are asked for what they have sold. */
@Service
public class Beds {
    private static final Table<Record> HUTS = table(name("products"));
    private static final Field<Integer> HUT = field(name("id"), Integer.class);
    private static final Field<Integer> LEFT = field(name("stock"), Integer.class);
    private final DSLContext sql;
    private final Partners partners;
    private final TransactionTemplate transaction;
    private final AtomicInteger valley = new AtomicInteger();

    Beds(DSLContext sql, Partners partners, TransactionTemplate transaction) {
        this.sql = sql;
        this.partners = partners;
        this.transaction = transaction;
    }

    @Transactional
    public int take(int hut) {
        Integer left = sql.select(LEFT).from(HUTS).where(HUT.eq(hut)).forUpdate().fetchOne(LEFT);
        sql.update(HUTS).set(LEFT, left - 1).where(HUT.eq(hut)).execute();
        return left - 1;
    }

    /** Takes over what partners have sold in the 40 huts of a valley. With the fault the huts are locked before partners are asked. */
    @Scheduled(fixedDelay = 1200)
    void takeOver() {
        int first = valley.getAndIncrement() % 3 * 40;
        if (!Main.fault("import-holds-rows")) {
            String sold = partners.sold(first);
            transaction.executeWithoutResult(status -> book(first, sold));
            return;
        }
        transaction.executeWithoutResult(status -> {
            sql.select(HUT).from(HUTS).where(HUT.between(first, first + 39)).orderBy(HUT).forUpdate().fetch();
            book(first, partners.sold(first));
        });
    }

    private void book(int first, String sold) {
        sql.update(HUTS).set(LEFT, LEFT.minus(sold.length() % 2)).where(HUT.between(first, first + 39)).execute();
    }
}
