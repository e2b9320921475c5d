package io.seriatim.examples.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A web service that serves a model, with no more than the JDK's own HTTP server.
 *
 * <pre>
 * POST /predict   numbers as 1,2,3 or [[1,2,3],[4,5,6]]: {"name":{"shape":[2,10],"values":[…]}}
 * GET  /health    200 as long as it serves
 * </pre>
 *
 * <p>
 * Requests are read and answered by virtual threads, of which there may be many; predictions are computed by as many threads as there are processors, all of them on one plan. Few may wait for these: when too many do,
 * the answer is 503, at once, rather than later and later.
 *
 * <p>
 * {@code PredictionServer MODEL [PORT]} serves until it is told to stop (Ctrl-C, SIGTERM), and then answers what it has begun.
 */
public final class PredictionServer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(PredictionServer.class.getName());
    private static final int DEFAULT_PORT = 8080;
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final Predictor predictor;
    private final Limits limits;
    private final HttpServer http;
    private final ExecutorService connections = Executors.newVirtualThreadPerTaskExecutor();
    private final ThreadPoolExecutor workers;

    /**
     * How much is enough.
     *
     * @param bodyBytes
     *            of a request
     * @param examples
     *            of a request
     * @param waiting
     *            requests that wait for a processor
     */
    record Limits(int bodyBytes, int examples, int waiting) {
        static final Limits DEFAULT = new Limits(4 << 20, 32, 256);
    }

    /** Loads and warms up the model, and then listens; port 0 is any that is free. */
    PredictionServer(Path model, InetSocketAddress address, Limits limits) throws IOException {
        this.limits = limits;
        int processors = Runtime.getRuntime().availableProcessors();
        this.workers = new ThreadPoolExecutor(processors, processors, 0, TimeUnit.SECONDS, new ArrayBlockingQueue<>(limits.waiting()));
        this.predictor = Predictor.load(model, limits.examples());
        try {
            this.http = HttpServer.create(address, 0);
        } catch (IOException e) {
            predictor.close();
            throw e;
        }
        http.createContext("/", this::handle);
        http.setExecutor(connections);
        http.start();
    }

    /**
     * Serves a model on this machine's loopback address.
     *
     * @param args
     *            the model, {@code name.pdmodel} beside {@code name.pdiparams}; and the port, 8080 if none is given
     */
    public static void main(String... args) {
        if (args.length == 0) {
            System.err.println("usage: PredictionServer MODEL [PORT]");
            System.exit(2);
        }
        // Seconds that a client has to send its request: else those that never do hold connections for ever.
        System.setProperty("sun.net.httpserver.maxReqTime", "30");
        try {
            int port = args.length > 1 ? Integer.parseInt(args[1]) : DEFAULT_PORT;
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
            PredictionServer server = new PredictionServer(Path.of(args[0]), address, Limits.DEFAULT);
            Runtime.getRuntime().addShutdownHook(new Thread(server::close));
            System.out.println("http://" + server.address().getHostString() + ":" + server.address().getPort() + "/predict takes "
                    + server.predictor.description());
        } catch (IOException | IllegalArgumentException e) {
            System.err.println("cannot serve " + args[0] + ": " + e);
            System.exit(2);
        }
    }

    InetSocketAddress address() {
        return http.getAddress();
    }

    /** Answers every request, also those that fail. */
    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            try {
                String path = exchange.getRequestURI().getPath();
                switch (path) {
                    case "/predict" -> {
                        require(exchange, "POST");
                        send(exchange, 200, predict(body(exchange)));
                    }
                    case "/health" -> {
                        require(exchange, "GET");
                        send(exchange, 200, "{\"status\":\"ready\",\"input\":" + Json.quoted(predictor.description()) + "}");
                    }
                    default -> throw new RefusedException(404, "there are POST /predict and GET /health, but not " + path);
                }
            } catch (RefusedException e) {
                send(exchange, e.status(), "{\"error\":" + Json.quoted(String.valueOf(e.getMessage())) + "}");
            } catch (RuntimeException e) {
                LOG.log(Level.ERROR, "a prediction failed", e);
                send(exchange, 500, "{\"error\":\"the prediction failed; the server's log says why\"}");
            }
        }
    }

    private static void require(HttpExchange exchange, String method) throws RefusedException {
        if (!exchange.getRequestMethod().equals(method)) {
            exchange.getResponseHeaders().set("Allow", method);
            throw new RefusedException(405, "use " + method + ", not " + exchange.getRequestMethod());
        }
    }

    /** The request's body, of which never more than the limit is read. */
    private String body(HttpExchange exchange) throws IOException, RefusedException {
        try (InputStream in = exchange.getRequestBody()) {
            byte[] body = in.readNBytes(limits.bodyBytes() + 1);
            if (body.length > limits.bodyBytes()) {
                throw new RefusedException(413, "a request has at most " + limits.bodyBytes() + " bytes");
            }
            return new String(body, UTF_8);
        }
    }

    private String predict(String body) throws RefusedException {
        List<float[]> examples = Json.examples(body);
        Future<Map<String, Predictor.Output>> prediction;
        try {
            prediction = workers.submit(() -> predictor.predict(examples));
        } catch (RejectedExecutionException e) {
            throw new RefusedException(503, "too many requests are waiting; try again later");
        }
        try {
            return Json.of(prediction.get());
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RefusedException refused -> throw refused;
                case RuntimeException failed -> throw failed;
                case null, default -> throw new IllegalStateException(e);
            }
        } catch (InterruptedException e) {
            prediction.cancel(true);
            Thread.currentThread().interrupt();
            throw new RefusedException(503, "the server is stopping");
        }
    }

    private static void send(HttpExchange exchange, int status, String json) throws IOException {
        byte[] bytes = json.getBytes(UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    /** Takes no more connections, answers the requests that have begun, and frees memory. */
    @Override
    public void close() {
        http.stop(Math.toIntExact(PATIENCE.toSeconds()));
        connections.shutdownNow();
        workers.close();
        predictor.close();
    }
}
