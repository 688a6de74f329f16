package meters;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** The load of each cell of the town's grid. */
class Grid {
    private static final int SIDE = 400;
    private static final int DISTRICT = 100;

    /** A cell of the grid. */
    interface Cell {
        int east();

        int north();
    }

    private record Spread(int east, int north) implements Cell {
    }

    /** Two cells on a line from north-west to south-east have the same hash. */
    private record Diagonal(int east, int north) implements Cell {
        @Override
        public int hashCode() {
            return east + north;
        }
    }

    private final Map<Cell, Integer> watts = new HashMap<>(SIDE * SIDE * 2);
    private final LongAdder drifts = new LongAdder();

    Grid() {
        for (int east = 0; east < SIDE; east++) {
            for (int north = 0; north < SIDE; north++) {
                watts.put(cell(east, north), 200 + (east * 31 + north * 17) % 900);
            }
        }
    }

    private static Cell cell(int east, int north) {
        return Main.fault("colliding-keys") ? new Diagonal(east, north) : new Spread(east, north);
    }

    /** Sums up a district of 100 by 100 cells. */
    long load(int fromEast, int fromNorth) {
        long sum = drifts.sum();
        for (int east = 0; east < DISTRICT; east++) {
            for (int north = 0; north < DISTRICT; north++) {
                sum += watts.get(cell((fromEast + east) % SIDE, (fromNorth + north) % SIDE));
            }
        }
        return sum;
    }

    void drift() {
        drifts.increment();
    }
}
