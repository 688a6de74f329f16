package laundry;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Notes each two seconds that bags were counted; with the fault in the comment of their table, which is a change of the table. */
@Component
public class Notes {
    private final JdbcTemplate jdbc;

    Notes(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Scheduled(fixedDelay = 2000)
    void note() {
        long now = System.currentTimeMillis();
        if (Main.fault("metadata-lock")) {
            jdbc.execute("alter table orders comment = 'counted at " + now + "'");
        } else {
            jdbc.update("update products set stock = stock where id = ?", now % 1000);
        }
    }
}
