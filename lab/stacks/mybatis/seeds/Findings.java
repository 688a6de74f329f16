package seeds;

import java.util.List;

/** What was found out of a lot. */
public class Findings {
    public int grams;
    public int sprouts;
    public Origin origin;
    public List<Test> tests;
    public boolean moist;

    public static class Origin {
        public String country;
        public int altitude;
    }

    public static class Test {
        public int day;
        public double share;
    }
}
