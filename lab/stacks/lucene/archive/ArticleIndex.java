package archive;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.SearcherFactory;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.MMapDirectory;

/** The index of all articles. What is written is found once a new searcher has been opened and warmed. */
class ArticleIndex {
    private static final int ARTICLES = 16_000;
    private static final int WARMING = 1500;

    private final IndexWriter writer;
    private final SearcherManager searchers;

    ArticleIndex() throws IOException {
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer()).setRAMBufferSizeMB(48);
        writer = new IndexWriter(new MMapDirectory(Files.createTempDirectory("articles")), config);
        searchers = new SearcherManager(writer, new Warming());
    }

    /** A new searcher is asked for the words of the front page before others get it. */
    private static class Warming extends SearcherFactory {
        @Override
        public IndexSearcher newSearcher(IndexReader reader, IndexReader previous) throws IOException {
            IndexSearcher searcher = super.newSearcher(reader, previous);
            for (int n = 0; n < WARMING && previous != null; n++) {
                searcher.search(new TermQuery(new Term("text", Words.common(n))), 20);
            }
            return searcher;
        }
    }

    void fill() throws IOException {
        for (int id = 0; id < ARTICLES; id++) {
            writer.addDocument(article(id, 0));
        }
        writer.forceMerge(1);
        writer.commit();
        searchers.maybeRefreshBlocking();
        if (!Main.fault("refresh-each")) {
            Executors.newSingleThreadScheduledExecutor().scheduleWithFixedDelay(this::refresh, 1, 1, TimeUnit.SECONDS);
        }
    }

    private void refresh() {
        try {
            searchers.maybeRefresh();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    void write(int id, int edition) throws IOException {
        writer.updateDocument(new Term("id", "a" + id % ARTICLES), article(id % ARTICLES, edition));
    }

    /** Returns the titles of the best 20 articles. With the fault each search first sees to it that it finds what was just written. */
    List<String> search(Query query) throws IOException {
        if (Main.fault("refresh-each")) {
            searchers.maybeRefreshBlocking();
        }
        IndexSearcher searcher = searchers.acquire();
        try {
            TopDocs best = searcher.search(query, 20);
            List<String> titles = new ArrayList<>();
            for (ScoreDoc hit : best.scoreDocs) {
                titles.add(searcher.storedFields().document(hit.doc).get("title"));
            }
            return titles;
        } finally {
            searchers.release(searcher);
        }
    }

    private static Document article(int id, int edition) {
        StringBuilder text = new StringBuilder();
        StringBuilder turned = new StringBuilder();
        for (int n = 0; n < 36; n++) {
            String name = Words.name(id * 36 + n);
            text.append(name).append(' ').append(Words.common(id * 7 + n * n)).append(' ');
            turned.append(new StringBuilder(name).reverse()).append(' ');
        }
        Document article = new Document();
        article.add(new StringField("id", "a" + id, Field.Store.YES));
        article.add(new StringField("title", "Article " + id + ", edition " + edition, Field.Store.YES));
        article.add(new TextField("text", text.toString(), Field.Store.NO));
        article.add(new TextField("turned", turned.toString(), Field.Store.NO));
        return article;
    }
}
