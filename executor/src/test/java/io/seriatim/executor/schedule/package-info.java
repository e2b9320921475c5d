@NullMarked
package io.seriatim.executor.schedule;

import org.jspecify.annotations.NullMarked;
