package shop;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Sells one item: the stock goes down, and the payment is written. */
@Service
public class Checkout {
    private final JdbcTemplate jdbc;
    private final Suppliers suppliers;

    Checkout(JdbcTemplate jdbc, Suppliers suppliers) {
        this.jdbc = jdbc;
        this.suppliers = suppliers;
    }

    /** The row of the product stays locked while the payment provider is asked. */
    @Transactional
    public String sellInOneTransaction(int product) {
        jdbc.update("update products set stock = stock - 1 where id = ?", product);
        String receipt = suppliers.pay(product);
        jdbc.update("insert into payments (product_id, amount_cents, receipt) values (?, 100, ?)", product, receipt);
        return receipt;
    }

    @Transactional
    public void book(int product, String receipt) {
        jdbc.update("update products set stock = stock - 1 where id = ?", product);
        jdbc.update("insert into payments (product_id, amount_cents, receipt) values (?, 100, ?)", product, receipt);
    }
}
