package theatre;

import java.util.List;

/** The free seats of a hall, and when they were asked for. */
public record Plan(int hall, List<Integer> seats, long asked) {
}
