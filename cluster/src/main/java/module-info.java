/**
 * Ranks that train together: how processes find each other, and collectives over sockets.
 */
module io.seriatim.cluster {
    requires static com.google.errorprone.annotations;
    requires static org.jspecify;
    requires transitive io.seriatim.graph;

    exports io.seriatim.cluster;
}
