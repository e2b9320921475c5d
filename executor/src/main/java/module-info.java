/**
 * Plans of programs: analysed once, run many times, in parallel.
 */
module io.seriatim.executor {
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;
    requires jdk.management;
    requires transitive io.seriatim.graph;

    exports io.seriatim.executor;
    exports io.seriatim.executor.trace;
}
