package wines;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class Audit {
    private final JdbcTemplate jdbc;

    Audit(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Transactional
    public void write(int customer, long cents) {
        jdbc.update("insert into payments (product_id, amount_cents, receipt) values (?, ?, 'credit')", customer, cents);
    }
}
