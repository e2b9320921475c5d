/** A program of one class that starts from the module path, or as a part of a run-time image. */
module app {
    requires io.seriatim.executor;
}
