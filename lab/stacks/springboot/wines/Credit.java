package wines;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Checks what a customer may owe, and writes down that it was checked. */
@Service
public class Credit {
    private final SaleRepository sales;
    private final Audit audit;

    Credit(SaleRepository sales, Audit audit) {
        this.sales = sales;
        this.audit = audit;
    }

    /** The turnover is read from slow storage in 20 ms. */
    @Transactional
    public long check(int customer) {
        long cents = sales.turnoverOf(customer);
        audit.write(customer, cents);
        return cents;
    }
}
