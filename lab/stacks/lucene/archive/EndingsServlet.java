package archive;

import com.google.inject.Inject;
import com.google.inject.Singleton;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.WildcardQuery;

/** Finds articles with a name of which only the end can be read in an old print, in one of eight ways. */
@Singleton
class EndingsServlet extends HttpServlet {
    private static final int WAYS = 8;

    private final transient ArticleIndex index;

    @Inject
    EndingsServlet(ArticleIndex index) {
        this.index = index;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        BooleanQuery.Builder ways = new BooleanQuery.Builder();
        for (int n = 0; n < WAYS; n++) {
            ways.add(endsWith(Words.name(Main.number(request) * WAYS + n).substring(4)), BooleanClause.Occur.SHOULD);
        }
        Main.send(response, index.search(ways.build()));
    }

    /** Names are indexed backwards too, so that an end is a prefix. With the fault that is not used. */
    private static Query endsWith(String end) {
        if (Main.fault("leading-wildcard")) {
            return new WildcardQuery(new Term("text", "*" + end));
        }
        return new PrefixQuery(new Term("turned", new StringBuilder(end).reverse().toString()));
    }
}
