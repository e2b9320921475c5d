/**
 * The dependency engine: operations pushed with the variables that they read and mutate, run in parallel with the
 * result of the serial program.
 */
module io.seriatim.engine {
    requires jdk.jfr;
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;

    exports io.seriatim.engine;
}
