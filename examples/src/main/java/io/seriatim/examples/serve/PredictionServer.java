package io.seriatim.examples.serve;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.seriatim.graph.util.Printable;
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
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A web service that serves a model, on the JDK's HTTP server.
 *
 * <pre>
 * POST /predict   numbers as 1,2,3 or [[1,2,3],[4,5,6]]: {"name":{"shape":[2,10],"values":[…]}}
 * GET  /health    200 as long as it serves
 * </pre>
 *
 * <p>
 * Virtual threads read requests and write answers; one platform thread per processor computes predictions, all of them
 * on one plan. If too many requests wait, further ones are refused at once with status 503, instead of increasing the
 * latency of all. The same happens if the bodies of all requests would exceed their share of the heap. The server reads
 * a refused request to its end and discards it, because closing the connection earlier would reset it before the client
 * has read the answer.
 *
 * <p>
 * {@code PredictionServer MODEL [PORT]} serves until Ctrl-C or SIGTERM, and then answers the requests that have
 * started.
 */
public final class PredictionServer implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(PredictionServer.class.getName());
    private static final int DEFAULT_PORT = 8080;
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    /** The time after which the server notices that no request is running. */
    private static final Duration MOMENT = Duration.ofMillis(200);
    private static final long MOST_DISCARDED = 1L << 30;
    /** Created in advance, because memory may be exhausted when it is needed. */
    private static final Answer NO_MEMORY = Answer.error(503,
            "there is not enough memory for this request now; try again later");

    private final Predictor predictor;
    private final Limits limits;
    private final HttpServer http;
    private final ExecutorService connections = Executors.newVirtualThreadPerTaskExecutor();
    private final ThreadPoolExecutor workers;
    private final Semaphore bytes;
    private final Object turns = new Object();
    /** The number of requests that have started, guarded by {@link #turns}. */
    private int running;

    /**
     * The limits of the server.
     *
     * @param bodyBytes
     *            the maximum size of a request body
     * @param examples
     *            the maximum number of examples of a request
     * @param waiting
     *            the maximum number of requests that wait for a processor
     * @param bytesAtOnce
     *            the maximum total size of the bodies of all requests
     */
    record Limits(int bodyBytes, int examples, int waiting, int bytesAtOnce) {
        static final Limits DEFAULT = new Limits(4 << 20, 32, 256);

        /**
         * A body needs up to twelve times its size in memory: as text, as numbers, and as lists with spare capacity.
         */
        Limits(int bodyBytes, int examples, int waiting) {
            this(bodyBytes, examples, waiting,
                    Math.clamp(Runtime.getRuntime().maxMemory() / 16, bodyBytes, Integer.MAX_VALUE));
        }
    }

    /** An answer. */
    @SuppressWarnings("ArrayRecordComponent") // Never compared.
    private record Answer(int status, byte[] json) {
        static Answer of(int status, String json) {
            return new Answer(status, json.getBytes(UTF_8));
        }

        static Answer error(int status, String message) {
            return of(status, "{\"error\":" + Json.quoted(message) + "}");
        }
    }

    /** Loads and warms up the model, and then listens; port 0 chooses any free port. */
    PredictionServer(Path model, InetSocketAddress address, Limits limits) throws IOException {
        this.limits = limits;
        this.bytes = new Semaphore(limits.bytesAtOnce());
        int processors = Runtime.getRuntime().availableProcessors();
        this.workers = new ThreadPoolExecutor(processors, processors, 0, TimeUnit.SECONDS,
                new ArrayBlockingQueue<>(limits.waiting()));
        this.predictor = Predictor.load(model, limits.examples());
        try {
            this.http = HttpServer.create(address, 0);
        } catch (IOException e) {
            predictor.close();
            throw e;
        }
        http.createContext("/", this::handle);
        http.setExecutor(this::begin);
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
        // The time limit in seconds for a client to send its request, so that idle clients do not hold connections for
        // ever.
        System.setProperty("sun.net.httpserver.maxReqTime", "30");
        try {
            int port = args.length > 1 ? Integer.parseInt(args[1]) : DEFAULT_PORT;
            InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
            PredictionServer server = new PredictionServer(Path.of(args[0]), address, Limits.DEFAULT);
            Runtime.getRuntime().addShutdownHook(new Thread(server::close));
            System.out.println(
                    "http://" + server.address().getHostString() + ":" + server.address().getPort() + "/predict takes "
                            + Printable.of(server.predictor.description()));
        } catch (IOException | IllegalArgumentException e) {
            System.err.println(Printable.of("cannot serve " + args[0] + ": " + e));
            System.exit(2);
        }
    }

    InetSocketAddress address() {
        return http.getAddress();
    }

    /** Counts and runs a request. */
    private void begin(Runnable request) {
        synchronized (turns) {
            running++;
        }
        boolean started = false;
        try {
            connections.execute(() -> {
                try {
                    request.run();
                } finally {
                    end();
                }
            });
            started = true;
        } finally {
            if (!started) {
                end();
            }
        }
    }

    private void end() {
        synchronized (turns) {
            running--;
            turns.notifyAll();
        }
    }

    /** The number of bytes still available for bodies. */
    int freeBytes() {
        return bytes.availablePermits();
    }

    /** Answers every request, including failed ones. */
    private void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Answer answer = answer(exchange);
            if (!isDiscarded(exchange.getRequestBody())) {
                exchange.getResponseHeaders().set("Connection", "close");
            }
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            if (answer.status() == 503) {
                exchange.getResponseHeaders().set("Retry-After", "1");
            }
            exchange.sendResponseHeaders(answer.status(), answer.json().length);
            exchange.getResponseBody().write(answer.json());
        }
    }

    private Answer answer(HttpExchange exchange) throws IOException {
        try {
            String path = exchange.getRequestURI().getPath();
            return switch (path) {
                case "/predict" -> {
                    require(exchange, "POST");
                    yield predict(exchange);
                }
                case "/health" -> {
                    require(exchange, "GET");
                    yield Answer.of(200,
                            "{\"status\":\"ready\",\"input\":" + Json.quoted(predictor.description()) + "}");
                }
                default -> throw new RefusedException(404, "there are POST /predict and GET /health, but not " + path);
            };
        } catch (RefusedException e) {
            return Answer.error(e.status(), String.valueOf(e.getMessage()));
        } catch (OutOfMemoryError e) {
            return NO_MEMORY;
        } catch (RuntimeException e) {
            LOG.log(Level.ERROR, "a prediction failed", e);
            return Answer.error(500, "the prediction failed; the server's log says why");
        }
    }

    private static void require(HttpExchange exchange, String method) throws RefusedException {
        if (!exchange.getRequestMethod().equals(method)) {
            exchange.getResponseHeaders().set("Allow", method);
            throw new RefusedException(405, "use " + method + ", not " + exchange.getRequestMethod());
        }
    }

    /** Discards the rest of a request. Returns whether the end was reached. */
    private static boolean isDiscarded(InputStream in) throws IOException {
        byte[] buffer = new byte[1 << 13];
        for (long left = MOST_DISCARDED; left > 0;) {
            int n = in.read(buffer);
            if (n < 0) {
                return true;
            }
            left -= n;
        }
        return false;
    }

    /** Reserves the memory that the request declares, or the maximum. */
    private Answer predict(HttpExchange exchange) throws IOException, RefusedException {
        long length = length(exchange);
        if (length > limits.bodyBytes()) {
            throw tooLong();
        }
        int needed = length < 0 ? limits.bodyBytes() : (int) length;
        if (!bytes.tryAcquire(needed)) {
            throw new RefusedException(503, "the requests that are being answered take all memory; try again later");
        }
        try {
            return Answer.of(200, predict(body(exchange)));
        } finally {
            bytes.release(needed);
        }
    }

    /** Returns the declared length of a request, or −1 if it is missing. */
    private static long length(HttpExchange exchange) throws RefusedException {
        String length = exchange.getRequestHeaders().getFirst("Content-Length");
        try {
            return length == null ? -1 : Long.parseLong(length.strip());
        } catch (NumberFormatException e) {
            throw new RefusedException(400, "Content-Length must be a number");
        }
    }

    private RefusedException tooLong() {
        return new RefusedException(413, "a request has at most " + limits.bodyBytes() + " bytes");
    }

    /** Reads the request's body, up to the limit. */
    private String body(HttpExchange exchange) throws IOException, RefusedException {
        byte[] body = exchange.getRequestBody().readNBytes(limits.bodyBytes() + 1);
        if (body.length > limits.bodyBytes()) {
            throw tooLong();
        }
        return new String(body, UTF_8);
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
                case OutOfMemoryError none -> throw none;
                case null, default -> throw new IllegalStateException(e);
            }
        } catch (InterruptedException e) {
            prediction.cancel(true);
            Thread.currentThread().interrupt();
            throw new RefusedException(503, "the server is stopping");
        }
    }

    /** Refuses new connections, answers the requests that have started, and frees memory. */
    @Override
    public void close() {
        // The server waits for its requests, including those whose connections have already ended, so it is woken when
        // none is running.
        Thread stopping = Thread.ofVirtual().unstarted(() -> http.stop(Math.toIntExact(PATIENCE.toSeconds())));
        stopping.start();
        boolean interrupted = false;
        try {
            awaitRequests();
            if (!stopping.join(MOMENT)) {
                stopping.interrupt();
            }
            stopping.join();
        } catch (InterruptedException e) {
            stopping.interrupt();
            interrupted = true;
        }
        connections.shutdownNow();
        workers.close();
        predictor.close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void awaitRequests() throws InterruptedException {
        long end = System.nanoTime() + PATIENCE.toNanos();
        synchronized (turns) {
            for (long left = PATIENCE.toMillis(); running > 0
                    && left > 0; left = (end - System.nanoTime()) / 1_000_000) {
                turns.wait(left);
            }
        }
    }
}
