package laundry;

import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** What it costs to wash each kind of linen, made anew each two seconds from what was washed. */
@Component
public class Prices {
    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private final JdbcTemplate jdbc;
    private long[] cents = new long[1000];

    Prices(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    long of(int kind) {
        lock.readLock().lock();
        try {
            return cents[kind];
        } finally {
            lock.readLock().unlock();
        }
    }

    /** The new prices are put in place when they are made; with the fault all of it is done under the lock. */
    @Scheduled(fixedDelay = 2000)
    void reprice() {
        if (Main.fault("reprice-under-lock")) {
            lock.writeLock().lock();
            try {
                cents = make();
            } finally {
                lock.writeLock().unlock();
            }
            return;
        }
        long[] made = make();
        lock.writeLock().lock();
        try {
            cents = made;
        } finally {
            lock.writeLock().unlock();
        }
    }

    private long[] make() {
        long[] made = new long[1000];
        jdbc.query("select product_id, avg(total_cents) as cents from orders group by product_id", row -> {
            made[row.getInt("product_id")] = row.getLong("cents");
        });
        return made;
    }
}
