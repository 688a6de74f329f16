package coach;

import java.io.Serializable;

/** A trip of a coach. */
public class Trip implements Serializable {
    private static final long serialVersionUID = 1L;

    private final int id;
    private final String stop;
    private final int cents;
    private int seats;
    private final String coach;

    Trip(int id, String stop, int cents, int seats, String coach) {
        this.id = id;
        this.stop = stop;
        this.cents = cents;
        this.seats = seats;
        this.coach = coach;
    }

    public int getId() {
        return id;
    }

    public String getStop() {
        return stop;
    }

    void takeSeat() {
        seats = seats > 0 ? seats - 1 : 60;
    }

    String json() {
        return "{\"id\":" + id + ",\"stop\":\"" + stop + "\",\"cents\":" + cents + ",\"seats\":" + seats + ",\"coach\":\"" + coach + "\"}";
    }
}
