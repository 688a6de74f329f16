package shop;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import java.time.OffsetDateTime;

/** An order of a customer. */
@Entity
@Table(name = "orders")
public class Order {
    @Id
    int id;
    @Column(name = "customer_id")
    int customer;
    @Column(name = "product_id")
    int product;
    int quantity;
    @Column(name = "total_cents")
    long cents;
    String status;
    String reference;
    String note;
    @Column(name = "placed_at")
    OffsetDateTime placed;

    public int getId() {
        return id;
    }

    public long getCents() {
        return cents;
    }

    public String getStatus() {
        return status;
    }

    public String getNote() {
        return note;
    }
}
