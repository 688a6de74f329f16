package shop;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.Table;

/** A product. */
@Entity
@Table(name = "products")
public class Product {
    @Id
    int id;
    String sku;
    String name;
    @Column(name = "price_cents")
    int cents;
    int stock;
}
