import java.io.File;
import java.util.*;
import org.graalvm.visualvm.lib.jfluid.heap.*;

/** Prints what VisualVM's reader finds in an HPROF file: objects, roots, threads, and what each object keeps alive. */
public class ReadHprof {
    public static void main(String[] arguments) throws Exception {
        Heap heap = HeapFactory.createHeap(new File(arguments[0]));
        StringBuilder out = new StringBuilder();
        HeapSummary summary = heap.getSummary();
        out.append("summary ").append(summary.getTotalLiveInstances()).append(' ').append(summary.getTotalLiveBytes()).append('\n');
        for (GCRoot root : heap.getGCRoots()) {
            if (!(root instanceof ThreadObjectGCRoot)) continue;
            StackTraceElement[] stack = ((ThreadObjectGCRoot) root).getStackTrace();
            Instance thread = root.getInstance();
            Instance name = (Instance) thread.getValueOfField("name");
            out.append("thread ").append(thread.getInstanceId()).append('\t').append(text(name));
            if (stack != null) for (StackTraceElement frame : stack) out.append('\t').append(frame.getClassName()).append(':').append(frame.getMethodName());
            out.append('\n');
        }
        for (Iterator<?> all = heap.getAllInstancesIterator(); all.hasNext();) {
            Instance each = (Instance) all.next();
            out.append("object ").append(each.getInstanceId()).append(' ').append(each.getSize()).append(' ').append(each.getRetainedSize())
               .append('\t').append(each.getJavaClass().getName()).append('\n');
        }
        System.out.print(out);
    }

    static String text(Instance string) {
        PrimitiveArrayInstance value = (PrimitiveArrayInstance) string.getValueOfField("value");
        StringBuilder made = new StringBuilder();
        for (Object each : value.getValues()) made.append((String) each);
        return made.toString();
    }
}
