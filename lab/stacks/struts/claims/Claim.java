package claims;

/** A claim for a broken pane. */
public class Claim {
    private final int id;
    private final String reference;
    private final String status;
    private final int quantity;
    private final long cents;
    private final String note;

    public Claim(int id, String reference, String status, int quantity, long cents, String note) {
        this.id = id;
        this.reference = reference;
        this.status = status;
        this.quantity = quantity;
        this.cents = cents;
        this.note = note;
    }

    public int getId() { return id; }

    public String getReference() { return reference; }

    public String getStatus() { return status; }

    public int getQuantity() { return quantity; }

    public long getCents() { return cents; }

    public String getNote() { return note; }
}
