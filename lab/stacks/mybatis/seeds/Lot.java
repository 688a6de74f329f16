package seeds;

/** A bag of seeds on a shelf. */
public class Lot {
    public int id;
    public int shelf;
    public String name;
    public Findings findings;
}
