/**
 * What runs of plans did and when: a recorder, and its recordings as a trace for Perfetto and as a report for people.
 */
@NullMarked
package io.seriatim.executor.trace;

import org.jspecify.annotations.NullMarked;
