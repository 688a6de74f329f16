package archive;

/** The words of articles: some that are in many of them, and names, each in one article or a few. */
class Words {
    private static final String[] PARTS = {"ber", "lin", "mar", "ko", "ste", "fan", "ul", "ri", "wal", "ten", "ho", "gas", "pe", "tro", "va", "nik"};

    static String common(int n) {
        return "word" + Math.floorMod(n, 4000);
    }

    static String name(int n) {
        StringBuilder name = new StringBuilder();
        int rest = (int) Math.floorMod(n * 40507L + 12345, 600_000L);
        for (int k = 0; k < 5; k++) {
            name.append(PARTS[rest % PARTS.length]);
            rest /= PARTS.length;
        }
        return name.toString();
    }
}
