package operations;

/** What the command line says: --name=value. */
final class Options {
    int port;
    String database = "";
    int pool = 10;
    int threads = 8;

    /** Queries of a request, what each lists and how much of that becomes part of the answer. */
    int queries = 40;
    int rows = 3900;
    int nodes = 20;
    int details = 24;

    /** How long answers are kept for the journal, ms. */
    int journal = 1200;

    /** Memory is used again instead of left to the collector. */
    boolean reuse;

    /** How long an answer is given again, ms; 0: never. */
    int cache;

    /** Into how many parts the answer is split. */
    int parts = 1;

    String gauges = "";
    String spans = "";
    int sampled = 10;

    Options(String[] args) {
        for (String arg : args) {
            String[] word = arg.split("=", 2);
            String value = word.length > 1 ? word[1] : "true";
            switch (word[0]) {
                case "--port": port = Integer.parseInt(value); break;
                case "--database": database = value; break;
                case "--pool": pool = Integer.parseInt(value); break;
                case "--threads": threads = Integer.parseInt(value); break;
                case "--queries": queries = Integer.parseInt(value); break;
                case "--rows": rows = Integer.parseInt(value); break;
                case "--nodes": nodes = Integer.parseInt(value); break;
                case "--details": details = Integer.parseInt(value); break;
                case "--journal": journal = Integer.parseInt(value); break;
                case "--reuse": reuse = Boolean.parseBoolean(value); break;
                case "--cache": cache = Integer.parseInt(value); break;
                case "--parts": parts = Integer.parseInt(value); break;
                case "--gauges": gauges = value; break;
                case "--spans": spans = value; break;
                case "--sampled": sampled = Integer.parseInt(value); break;
                default: throw new IllegalArgumentException(arg + ": no such option");
            }
        }
        if (database.isEmpty()) {
            throw new IllegalArgumentException("--database=HOST:PORT is needed: the database speaks the Redis protocol");
        }
    }
}
