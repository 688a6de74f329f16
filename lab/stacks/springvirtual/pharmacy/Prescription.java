package pharmacy;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.Table;

@Entity
@Table(name = "orders")
public class Prescription {
    @Id
    private int id;
    @Column(name = "customer_id")
    private int patient;
    @ManyToOne(fetch = FetchType.LAZY)
    @JoinColumn(name = "product_id")
    private Medicine medicine;
    @Column(name = "total_cents")
    private long cents;
    private String status;

    public int getId() {
        return id;
    }

    public int getPatient() {
        return patient;
    }

    public Medicine getMedicine() {
        return medicine;
    }

    public long getCents() {
        return cents;
    }

    public String getStatus() {
        return status;
    }
}
